-- Parts, differences, rounding and text of times.
CREATE TABLE times (
    id INT, day_ STRING, minute_ BIGINT, quarter_ BIGINT, since_ten INT, to_hour TIMESTAMP(3), later TIMESTAMP(3),
    parsed TIMESTAMP(3), day_later DATE
) WITH ({append}, {out});
INSERT INTO times
SELECT id, DATE_FORMAT(placed, 'yyyy/MM/dd HH-mm-ss'), EXTRACT(MINUTE FROM placed), QUARTER(CAST(placed AS DATE)),
    TIMESTAMPDIFF(SECOND, TIMESTAMP '2024-03-01 10:00:00', placed), FLOOR(placed TO HOUR),
    placed + INTERVAL '1' DAY - INTERVAL '90' SECOND, TO_TIMESTAMP(DATE_FORMAT(placed, 'dd.MM.yyyy HH:mm'), 'dd.MM.yyyy HH:mm'),
    CAST(placed AS DATE) + INTERVAL '1' MONTH
FROM orders;

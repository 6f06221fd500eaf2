-- Orders that are made up, summed per region, shown on the terminal: nothing but rowkind is needed.
CREATE TABLE orders (
  id BIGINT,
  region INT,
  amount DECIMAL(9, 2)
) WITH (
  'connector' = 'datagen',
  'rows-per-second' = '1000',
  'fields.id.kind' = 'sequence',
  'fields.id.start' = '1',
  'fields.id.end' = '3000',
  'fields.region.min' = '1',
  'fields.region.max' = '3',
  'fields.amount.max' = '100'
);

CREATE TABLE totals (
  region INT,
  orders BIGINT,
  amount DECIMAL(38, 2)
) WITH (
  'connector' = 'print',
  'print-identifier' = 'totals'
);

INSERT INTO totals
SELECT region, COUNT(*), SUM(amount) FROM orders GROUP BY region;

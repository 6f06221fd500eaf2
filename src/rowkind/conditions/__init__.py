"""The wording of named errors, one TOML file a package."""

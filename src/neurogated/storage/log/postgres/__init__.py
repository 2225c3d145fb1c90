"""The log in a PostgreSQL database."""

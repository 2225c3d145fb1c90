"""Small functions without a room of their own."""

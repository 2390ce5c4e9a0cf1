"""Steps from each form of the chat database to the next, run by alembic."""

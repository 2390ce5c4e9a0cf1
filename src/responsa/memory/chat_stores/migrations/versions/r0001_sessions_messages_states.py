"""Sessions, their messages, and what memory blocks keep with them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the first tables."""
    op.create_table(
        "responsa_chat_sessions",
        sa.Column("session", sa.String(32), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("updated", sa.Double, nullable=False),
        sa.Column("next_place", sa.Integer, nullable=False),
    )
    op.create_index("responsa_chat_sessions_updated", "responsa_chat_sessions", ["updated"])
    op.create_table(
        "responsa_chat_messages",
        sa.Column("session", sa.String(32), primary_key=True),
        sa.Column("place", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("turn_place", sa.Integer, nullable=False),
        sa.Column("message", sa.String(32), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(["session"], ["responsa_chat_sessions.session"], ondelete="CASCADE"),
    )
    op.create_index("responsa_chat_messages_message", "responsa_chat_messages", ["session", "message"], unique=True)
    op.create_index("responsa_chat_messages_order", "responsa_chat_messages", ["session", "turn_place", "place"])
    op.create_table(
        "responsa_chat_states",
        sa.Column("session", sa.String(32), primary_key=True),
        sa.Column("state", sa.String(32), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(["session"], ["responsa_chat_sessions.session"], ondelete="CASCADE"),
    )


def downgrade() -> None:
    """Remove them."""
    for table in ("responsa_chat_states", "responsa_chat_messages", "responsa_chat_sessions"):
        op.drop_table(table)

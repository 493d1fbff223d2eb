"""A group of commands whose help cuts no description, and whose errors suggest similar names."""

from __future__ import annotations

import click


class Group(click.Group):
    """A group whose help cuts no description."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; an error suggests those with a similar name."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            raise click.NoSuchCommand(error.command_name, possibilities=self.list_commands(ctx), ctx=ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write every command with its whole first sentence."""
        left = self.list_commands(ctx)
        width = max(map(len, left))
        for title, names in self.sections(left).items():
            found = ((name, self.get_command(ctx, name)) for name in names)
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), c.get_short_help_str(1_000)) for name, c in found if c])

    def sections(self, names: list[str]) -> dict[str, tuple[str, ...]]:
        return {"Commands": tuple(names)}

/** A command that cannot be carried out. The message says why and what to do. */
export class CommandError extends Error {}

/** A command that was called incorrectly. Its usage is printed below the message. */
export class UsageError extends CommandError {}

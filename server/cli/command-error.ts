/** A command that cannot be carried out. The message says why and what to do. */
export class CommandError extends Error {}

/** A command that is called wrongly. Its usage is printed under the message. */
export class UsageError extends CommandError {}

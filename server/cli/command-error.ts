/** A command that cannot be carried out. The message says why and what to do. */
export class CommandError extends Error {}

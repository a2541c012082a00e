/** As the service has it (CONTRACT 8); it checks again. */
export const PASSWORD_CHARS_MIN = 12;
export const passwordHelp = `At least ${PASSWORD_CHARS_MIN} characters. A few words you can remember are fine.`;

/** Whether an agent can register by this name: any text that can be a segment of a path. URL parsers remove `.` and `..`. */
export function isAgentName(text: string): boolean {
  return text.isWellFormed() && !/[/\p{Cc}]|^\.{1,2}$/u.test(text);
}

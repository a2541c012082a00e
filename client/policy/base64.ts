/** Decodes base64 in either alphabet, padded or not; nothing where the text is neither. */
export function bytesFromBase64(text: string): Uint8Array | undefined {
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    // What atob refuses is not base64, which is the answer.
    return undefined;
  }
}

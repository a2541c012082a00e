/** Ctrl+S, or Cmd+S on a Mac: saves here instead of saving the page. */
export function onSaveKey(save: () => void) {
  return (event: KeyboardEvent) => {
    if (
      event.key.toLowerCase() !== 's' ||
      !(event.ctrlKey || event.metaKey) ||
      event.altKey ||
      event.shiftKey
    )
      return;
    event.preventDefault();
    save();
  };
}

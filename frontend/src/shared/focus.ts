// Where a page waits for someone to type, they need no click first.

/** Puts the focus into a field as soon as it is shown: `use:focused`. */
export function focused(node: HTMLElement): void {
  node.focus();
}

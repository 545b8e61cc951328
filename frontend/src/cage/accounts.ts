// Accounts of several books in one table.
import type { Books } from "../connection/messages";

/** Every account that is not zero in some book, in the server's order. */
export function accountsOf(books: readonly Books[]): string[] {
  const found = new Set<string>();
  for (const book of books) for (const [account, amount] of Object.entries(book.accounts)) if (amount) found.add(account);
  return [...found];
}

export const sumOf = (books: readonly Books[], account: string): number =>
  books.reduce((sum, book) => sum + (book.accounts[account] ?? 0), 0);

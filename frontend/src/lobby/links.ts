// The page and address of each role. The roles and ranks come from the server.
export const terminal = (table: string): string => `/terminal?${new URLSearchParams({ table })}`;
export const console = (table: string, as?: string): string => `/console?${new URLSearchParams({ table, ...(as ? { as } : {}) })}`;
export const display = (table: string): string => `/display?${new URLSearchParams({ table })}`;
export const recorder = (table: string): string => `/recorder?${new URLSearchParams({ table })}`;
export const rounds = (table: string, as?: string): string => `/round?${new URLSearchParams({ table, ...(as ? { as } : {}) })}`;
export const pit = (as?: string): string => (as ? `/pit?${new URLSearchParams({ as })}` : "/pit");
export const CAGE = "/cage";
export const SCHOOL = "/school";
export const OFFICE = "/office";

/** The link of a role, to a table if its work is there. `ranks` are those in the table's rulebook. */
export function linkOf(role: string, table: string, ranks: readonly string[]): string {
  if (role === "player") return terminal(table);
  if (role === "display") return display(table);
  if (role === ranks[0]) return console(table);
  if (ranks.includes(role)) return console(table, role);
  if (role === "cashier") return CAGE;
  if (role === "administrator") return OFFICE;
  if (role === "auditor") return rounds(table, role);
  return pit(role);
}

/** Splits the roles into those at the table and those of the house; leaves out ranks that only other tables have. */
export function rolesAt(roles: readonly string[], ranks: readonly string[], everyRank: ReadonlySet<string>): { here: string[]; house: string[] } {
  const atTable = (role: string) => role === "player" || role === "display" || ranks.includes(role);
  return { here: roles.filter(atTable), house: roles.filter((role) => !atTable(role) && !everyRank.has(role)) };
}

import type { Connection } from "../connection/connection.svelte";

/** Who works at a page. */
export interface Staff {
  connection: Connection;
  token: string;
  role: string;
  person: string;
  isDemonstration: boolean;
}

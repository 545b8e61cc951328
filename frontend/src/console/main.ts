import { mountPage } from "../shared/page";
import { fromAddress, isDemonstration, saveSession } from "../connection/identity";
import Console from "./Console.svelte";

const LAST_TABLE = "taisai-console-table";

// In a demonstration, a person who goes to another table starts a new session, so that the virtual dealer there gives
// way.
async function comeAnew(): Promise<void> {
  const table = fromAddress("table") ?? "";
  if (sessionStorage.getItem(LAST_TABLE) !== table && (await isDemonstration().catch(() => false))) saveSession(null);
  sessionStorage.setItem(LAST_TABLE, table);
}

void comeAnew().then(() => mountPage(Console));

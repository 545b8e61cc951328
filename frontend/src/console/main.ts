import { mountPage } from "../shared/page";
import { fromAddress, isDemonstration, saveSession } from "../connection/identity";
import Console from "./Console.svelte";

const LAST_TABLE = "taisai-console-table";

// In a demonstration whoever comes to another table comes in anew: only then does that table's virtual dealer give way.
async function comeAnew(): Promise<void> {
  const table = fromAddress("table") ?? "";
  if (sessionStorage.getItem(LAST_TABLE) !== table && (await isDemonstration().catch(() => false))) saveSession(null);
  sessionStorage.setItem(LAST_TABLE, table);
}

void comeAnew().then(() => mountPage(Console));

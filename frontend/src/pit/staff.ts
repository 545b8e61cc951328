import type { Connection } from "../connection/connection.svelte";
import type { FeltView, RoundView, TableView } from "../connection/messages";
import type { StaffRequests } from "./staffRequests.svelte";

/** Who works at a page. */
export interface Staff {
  connection: Connection;
  token: string;
  role: string;
  person: string;
  isDemonstration: boolean;
}

/** A table at which something that is offered can be done, in a dialog. */
export interface OfferDesk {
  readonly table: string;
  readonly view: TableView | undefined;
  readonly felt: FeltView | null;
  readonly currency: string;
  readonly requests: StaffRequests;
  /** The last rounds, where a page shows them. */
  readonly rounds?: readonly RoundView[];
  readonly defaults?: Record<string, unknown>;
  loadRounds?(): Promise<void>;
  roundOf(round: number): Promise<RoundView | undefined>;
}

import type { Floor } from "../connection/floor.svelte";

/** Who works at a page. */
export interface Staff {
  floor: Floor;
  token: string;
  role: string;
  person: string;
  isDemonstration: boolean;
}

import type { Floor } from "../wire/floor.svelte";

/** Who works at a page. */
export interface Staff {
  floor: Floor;
  token: string;
  role: string;
  person: string;
  isDemonstration: boolean;
}

import { begin } from "../parts/page";
import Office from "./Office.svelte";

void begin(Office);

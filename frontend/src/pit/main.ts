import { begin } from "../parts/page";
import Pit from "./Pit.svelte";

void begin(Pit);

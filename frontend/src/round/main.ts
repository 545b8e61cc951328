import { begin } from "../parts/page";
import Round from "./Round.svelte";

void begin(Round);

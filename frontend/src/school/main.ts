import { begin } from "../parts/page";
import School from "./School.svelte";

void begin(School);

import { begin } from "../parts/page";
import Display from "./Display.svelte";

void begin(Display);

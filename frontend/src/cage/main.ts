import { begin } from "../parts/page";
import Cage from "./Cage.svelte";

void begin(Cage);

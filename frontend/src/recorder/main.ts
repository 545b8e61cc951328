import { begin } from "../parts/page";
import Recorder from "./Recorder.svelte";

void begin(Recorder);

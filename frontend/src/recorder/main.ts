import { mountPage } from "../shared/page";
import Recorder from "./Recorder.svelte";

void mountPage(Recorder);

import { readAsPlayer } from "../i18n/index.svelte";
import { mountPage } from "../shared/page";
import Terminal from "./Terminal.svelte";

readAsPlayer();
void mountPage(Terminal);

import { readAsPlayer } from "../i18n/index.svelte";
import { mountPage } from "../shared/page";
import Display from "./Display.svelte";

readAsPlayer();
void mountPage(Display);

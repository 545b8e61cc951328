import { mountPage } from "../shared/page";
import Terminal from "./Terminal.svelte";

void mountPage(Terminal);

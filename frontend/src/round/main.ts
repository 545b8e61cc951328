import { mountPage } from "../shared/page";
import Round from "./Round.svelte";

void mountPage(Round);

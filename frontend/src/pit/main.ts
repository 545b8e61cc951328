import { mountPage } from "../shared/page";
import Pit from "./Pit.svelte";

void mountPage(Pit);

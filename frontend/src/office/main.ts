import { mountPage } from "../shared/page";
import Office from "./Office.svelte";

void mountPage(Office);

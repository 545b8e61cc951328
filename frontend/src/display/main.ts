import { mountPage } from "../shared/page";
import Display from "./Display.svelte";

void mountPage(Display);

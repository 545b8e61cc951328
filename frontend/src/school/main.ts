import { mountPage } from "../shared/page";
import School from "./School.svelte";

void mountPage(School);

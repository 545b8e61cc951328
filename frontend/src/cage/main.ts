import { mountPage } from "../shared/page";
import Cage from "./Cage.svelte";

void mountPage(Cage);

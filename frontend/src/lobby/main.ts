import { mountPage } from "../shared/page";
import Lobby from "./Lobby.svelte";

void mountPage(Lobby);

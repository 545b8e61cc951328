import { begin } from "../parts/page";
import Lobby from "./Lobby.svelte";

void begin(Lobby);

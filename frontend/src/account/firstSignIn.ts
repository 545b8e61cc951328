import { mountPage } from "../shared/page";
import FirstSignIn from "./FirstSignIn.svelte";

void mountPage(FirstSignIn);

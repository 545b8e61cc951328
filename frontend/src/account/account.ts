import { mountPage } from "../shared/page";
import Account from "./Account.svelte";

void mountPage(Account);

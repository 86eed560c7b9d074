// The page's worker: it computes moves and hints. For its messages see thinking.js.

import { serve } from "./players/thinking.js";

serve(self);

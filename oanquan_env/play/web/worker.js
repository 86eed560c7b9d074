// The page's worker: it computes moves and hints. For its messages see thinking.js.

import { serve } from "./thinking.js";

serve(self);

// The page's worker: it thinks. What it needs and what it finds are messages, see thinker.js.

import { serve } from "./thinker.js";

serve(self);

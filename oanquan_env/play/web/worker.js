// The page's worker: it thinks. What it needs and what it finds are messages, see thinking.js.

import { serve } from "./thinking.js";

serve(self);

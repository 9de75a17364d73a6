// happy-dom has no ResizeObserver that fires and no canvas; the views need them to exist.
import { vi } from "vitest";

class StillObserver {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}
vi.stubGlobal("ResizeObserver", StillObserver);

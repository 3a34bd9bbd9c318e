import type { DevicePrompts } from '#lib/browser-tools/device-prompts';
import type { DeviceStore } from './device-store.ts';

/** What tools ask of the person, on the same sheet as the rules do. */
export function createPagePrompts(
  store: DeviceStore,
  loadBlob: (id: string) => Promise<string>,
): Required<DevicePrompts> {
  const { ask, isInTap } = store.getState();
  return {
    isInTap,
    async ask(prompt) {
      const { isAllowed } = await ask({ ...prompt, requestedBy: undefined });
      return isAllowed ? 'allowed' : 'denied';
    },
    async show({ callId, tool, title, text, image, buttons, input, signal }) {
      const picture = image && ('dataUrl' in image ? image.dataUrl : await loadBlob(image.blobId));
      const shown = { title, text, picture, buttons, input };
      const decision = await ask({ callId, tool, requestedBy: undefined, shown, signal });
      if (picture?.startsWith('blob:')) URL.revokeObjectURL(picture);
      if (!decision.isAllowed) return 'closed';
      return { button: decision.button ?? null, text: decision.reason };
    },
  };
}

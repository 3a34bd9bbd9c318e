import { type ReactNode, useSyncExternalStore } from 'react';
import { useStore } from 'zustand';
import { showControlCharacters } from '#lib/format/show-control-characters';
import { LANGUAGE_TAGS } from '#lib/i18n/locales';
import { useDevicePage } from './device-context.tsx';
import type { RunningDevice } from './device-runtime.ts';
import type { Connection, DeviceStore } from './device-store.ts';
import { fill } from './texts.ts';

const TONES: Record<Connection['state'], string> = {
  starting: 'text-muted',
  connecting: 'text-wait',
  connected: 'text-success',
  reconnecting: 'text-wait',
  elsewhere: 'text-muted',
  revoked: 'text-error',
  unknown: 'text-error',
  disconnected: 'text-wait',
  refused: 'text-error',
  failed: 'text-error',
};

interface ConnectionLineProps {
  workbench: string;
  store: DeviceStore;
  running: RunningDevice | null;
  onPair: () => void;
}

/** The state in words, and what a person can do about it. */
export function ConnectionLine({ store, ...rest }: ConnectionLineProps) {
  const { texts } = useDevicePage();
  const connection = useStore(store, (state) => state.connection);
  return (
    <div className="flex flex-col gap-2">
      <p role="status" className={`font-semibold text-lg ${TONES[connection.state]}`}>
        {texts.state[connection.state]}
      </p>
      <Advice connection={connection} {...rest} />
    </div>
  );
}

function Advice({
  connection,
  workbench,
  running,
  onPair,
}: Omit<ConnectionLineProps, 'store'> & { connection: Connection }) {
  const { texts, locale } = useDevicePage();
  const isOnline = useSyncExternalStore(onNetwork, () => navigator.onLine);
  switch (connection.state) {
    case 'connected':
      return <p className="text-muted text-sm">{texts.state.keepOpen}</p>;
    case 'reconnecting': {
      const time = new Date(connection.retryAt).toLocaleTimeString(LANGUAGE_TAGS[locale]);
      const { attempt } = connection;
      return (
        <With button={texts.state.retry} onPress={running?.retryNow}>
          {isOnline ? fill(texts.state.trying, { attempt, time }) : texts.state.offline}
        </With>
      );
    }
    case 'elsewhere':
      return (
        <With button={texts.state.useHere} onPress={running?.takeOver}>
          {texts.state.elsewhereHint}
        </With>
      );
    case 'revoked':
    case 'unknown':
      return (
        <With button={texts.ended.again} onPress={onPair} isOnly>
          {connection.state === 'revoked'
            ? fill(texts.state.revokedHint, { workbench })
            : texts.examine.tokenFix}
        </With>
      );
    case 'disconnected':
      return (
        <With button={texts.state.connectAgain} onPress={running?.connectAgain}>
          {fill(texts.state.disconnectedHint, { workbench })}
        </With>
      );
    case 'refused':
    case 'failed': {
      const hint =
        connection.state === 'refused' ? texts.state.refusedHint : texts.state.failedHint;
      return <p>{fill(hint, { reason: showControlCharacters(connection.reason) })}</p>;
    }
    default:
      return null;
  }
}

function With({
  button,
  onPress,
  isOnly = false,
  children,
}: {
  button: string;
  onPress: (() => void) | undefined;
  /** Of the whole page. */
  isOnly?: boolean;
  children: ReactNode;
}) {
  return (
    <>
      <p>{children}</p>
      <button type="button" className={isOnly ? 'btn btn-primary' : 'btn'} onClick={onPress}>
        {button}
      </button>
    </>
  );
}

function onNetwork(listener: () => void): () => void {
  window.addEventListener('online', listener);
  window.addEventListener('offline', listener);
  return () => {
    window.removeEventListener('online', listener);
    window.removeEventListener('offline', listener);
  };
}

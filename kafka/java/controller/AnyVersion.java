package org.apache.kafka.controller;

import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Calls of Kafka that are not the same in all supported versions (3.9 to 4.4), by reflection.
 *
 * A method is found by its name and the arguments that every version takes; parameters that a later version
 * added behind them get the value that Kafka's own callers give when they want the older behaviour: false for a
 * boolean, 1 for an int (the number of controllers), null otherwise.
 */
final class AnyVersion {
    private final Executable executable;
    private final int common;
    private final Object[] added;

    private AnyVersion(Executable executable, int common) {
        this.executable = executable;
        this.common = common;
        executable.setAccessible(true);
        Class<?>[] types = executable.getParameterTypes();
        this.added = new Object[types.length - common];
        for (int i = 0; i < added.length; i++) {
            Class<?> type = types[common + i];
            added[i] = type == boolean.class ? (Object) false : type == int.class ? (Object) 1 : null;
        }
    }

    /** The method with the fewest parameters that begins with `common` ones; null if there is none. */
    static AnyVersion method(Class<?> owner, String name, int common) {
        return Arrays.stream(owner.getDeclaredMethods())
            .filter(method -> method.getName().equals(name) && method.getParameterCount() >= common)
            .filter(method -> !method.isSynthetic())
            .min((a, b) -> a.getParameterCount() - b.getParameterCount())
            .map(method -> new AnyVersion(method, common))
            .orElse(null);
    }

    static AnyVersion constructor(Class<?> owner, int common) {
        Constructor<?>[] all = owner.getDeclaredConstructors();
        return Arrays.stream(all)
            .filter(constructor -> constructor.getParameterCount() >= common && !constructor.isSynthetic())
            .min((a, b) -> a.getParameterCount() - b.getParameterCount())
            .map(constructor -> new AnyVersion(constructor, common))
            .orElseThrow(() -> new IllegalStateException("no constructor of " + owner));
    }

    /** The `replay` of a manager for a kind of record, with or without the record's offset; null if none. */
    static AnyVersion replay(Class<?> manager, Class<?> record) {
        for (Method method : manager.getDeclaredMethods()) {
            Class<?>[] types = method.getParameterTypes();
            if (!method.getName().equals("replay") || types.length == 0 || types[0] != record) continue;
            if (types.length == 1 || types.length == 2 && types[1] == long.class)
                return new AnyVersion(method, types.length);
        }
        return null;
    }

    int parameters() {
        return common;
    }

    int length() {
        return common + added.length;
    }

    /** Throws what the method throws. A method of no object, such as a constructor, is called on null. */
    Object call(Object on, Object... arguments) {
        Object[] all = arguments;
        if (added.length > 0) {
            all = Arrays.copyOf(arguments, common + added.length);
            System.arraycopy(added, 0, all, common, added.length);
        }
        try {
            if (executable instanceof Constructor<?> constructor) return constructor.newInstance(all);
            return ((Method) executable).invoke(on, all);
        } catch (InvocationTargetException thrown) {
            throw AnyVersion.<RuntimeException>asIs(thrown.getCause());
        } catch (ReflectiveOperationException unusable) {
            throw new IllegalStateException("cannot call " + executable, unusable);
        }
    }

    @SuppressWarnings("unchecked")
    static <T extends Throwable> T asIs(Throwable thrown) throws T {
        throw (T) thrown;
    }

    /** Which manager replays which kind of record, found once per kind. */
    static final class Replays {
        private record Replay(AnyVersion method, int manager) { }

        private final Object[] managers;
        private final Map<Class<?>, Replay> replays = new HashMap<>();

        Replays(Object... managers) {
            this.managers = managers;
        }

        void replay(Object record, long offset) {
            Replay replay = replays.computeIfAbsent(record.getClass(), this::find);
            Object manager = managers[replay.manager];
            if (replay.method.parameters() == 1) replay.method.call(manager, record);
            else replay.method.call(manager, record, offset);
        }

        private Replay find(Class<?> record) {
            for (int i = 0; i < managers.length; i++) {
                AnyVersion method = AnyVersion.replay(managers[i].getClass(), record);
                if (method != null) return new Replay(method, i);
            }
            throw new IllegalStateException("no manager replays a " + record.getSimpleName());
        }
    }
}

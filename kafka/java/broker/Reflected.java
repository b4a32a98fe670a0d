package org.elrcheck.broker;

import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Calls of Kafka whose classes or parameters are not the same in all versions from 3.9 to 4.4. */
final class Reflected {
    private static final Map<String, Method> METHODS = new HashMap<>();

    private Reflected() { }

    /** The first of these classes that this version has. */
    static Class<?> any(String... names) {
        for (String name : names) {
            try {
                return Class.forName(name);
            } catch (ClassNotFoundException next) {
                // a version that has it elsewhere
            }
        }
        throw new IllegalStateException("no class " + String.join(" or ", names));
    }

    /** A method of this name and number of parameters, cached; throws what the method throws. */
    static Object call(Object on, String name, Object... arguments) {
        return invoke(on.getClass(), on, name, arguments);
    }

    static Object callStatic(Class<?> owner, String name, Object... arguments) {
        return invoke(owner, null, name, arguments);
    }

    private static Object invoke(Class<?> owner, Object on, String name, Object[] arguments) {
        String key = owner.getName() + '#' + name + '#' + arguments.length + (on == null ? "s" : "");
        Method method = METHODS.get(key);
        if (method == null || !accepts(method.getParameterTypes(), arguments)) {
            method = find(owner, on == null, name, arguments);
            METHODS.put(key, method);
        }
        return run(method, on, arguments);
    }

    private static Method find(Class<?> owner, boolean isStatic, String name, Object[] arguments) {
        for (Class<?> at = owner; at != null; at = at.getSuperclass()) {
            List<Method> all = new ArrayList<>(Arrays.asList(at.getDeclaredMethods()));
            for (Class<?> type : at.getInterfaces()) all.addAll(Arrays.asList(type.getMethods()));
            for (Method method : all) {
                if (method.getName().equals(name) && Modifier.isStatic(method.getModifiers()) == isStatic
                    && accepts(method.getParameterTypes(), arguments)) {
                    method.setAccessible(true);
                    return method;
                }
            }
        }
        throw new IllegalStateException("no method " + owner.getName() + "." + name);
    }

    private static boolean accepts(Class<?>[] types, Object[] arguments) {
        if (types.length != arguments.length) return false;
        for (int i = 0; i < types.length; i++) {
            Object argument = arguments[i];
            if (argument != null && !types[i].isPrimitive() && !types[i].isInstance(argument)) return false;
            if (types[i] == boolean.class != argument instanceof Boolean && types[i].isPrimitive()) return false;
            if (types[i] == long.class && !(argument instanceof Long)) return false;
            if (types[i] == int.class && !(argument instanceof Integer)) return false;
            if (types[i] == short.class && !(argument instanceof Short)) return false;
        }
        return true;
    }

    private static Object run(Executable what, Object on, Object[] arguments) {
        try {
            if (what instanceof Constructor<?> constructor) return constructor.newInstance(arguments);
            return ((Method) what).invoke(on, arguments);
        } catch (InvocationTargetException thrown) {
            throw Reflected.<RuntimeException>asIs(thrown.getCause());
        } catch (ReflectiveOperationException unusable) {
            throw new IllegalStateException("cannot call " + what, unusable);
        }
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> T asIs(Throwable thrown) throws T {
        throw (T) thrown;
    }

    /**
     * Calls the longest constructor (name null) or static method with values chosen by type, in their order;
     * what is not given is false, 0, nothing for an option, and null for anything else.
     */
    static Object build(Class<?> owner, String name, Object... values) {
        Executable[] all = name == null ? owner.getDeclaredConstructors() : Arrays.stream(owner.getDeclaredMethods())
            .filter(m -> m.getName().equals(name) && Modifier.isStatic(m.getModifiers())).toArray(Executable[]::new);
        Executable longest = Arrays.stream(all).filter(e -> !e.isSynthetic())
            .max(Comparator.comparingInt(Executable::getParameterCount)).orElseThrow();
        longest.setAccessible(true);
        List<Object> left = new ArrayList<>(Arrays.asList(values));
        Class<?>[] types = longest.getParameterTypes();
        Object[] arguments = new Object[types.length];
        for (int i = 0; i < types.length; i++) arguments[i] = take(types[i], left);
        if (!left.isEmpty()) throw new IllegalStateException("no parameter for " + left + " in " + longest);
        return run(longest, null, arguments);
    }

    private static Object take(Class<?> type, List<Object> left) {
        for (Object value : left) {
            if (accepts(new Class<?>[] {type}, new Object[] {value})) {
                left.remove(value);
                return value;
            }
        }
        if (type == boolean.class) return false;
        if (type == int.class) return 0;
        if (type == long.class) return 0L;
        if (type == short.class) return (short) 0;
        if (type == Optional.class) return Optional.empty();
        if (type.getName().equals("scala.Option")) return scala.Option.empty();
        return null;
    }

    /** The constructor that takes these values as they are. */
    static Object callConstructor(Class<?> owner, Object... arguments) {
        for (Constructor<?> constructor : owner.getConstructors())
            if (accepts(constructor.getParameterTypes(), arguments)) return run(constructor, null, arguments);
        throw new IllegalStateException("no such constructor of " + owner);
    }

    /** A field or the accessor of a record. */
    static Object get(Object of, String name) {
        try {
            Field field = of.getClass().getDeclaredField(name);
            if (Modifier.isPublic(field.getModifiers())) return field.get(of);
        } catch (ReflectiveOperationException accessor) {
            // a class with accessors
        }
        return call(of, name);
    }

    /** An object that does nothing but what `handler` does; default methods work. */
    static Object proxy(Class<?> type, InvocationHandler handler) {
        Class<?>[] types = {type};
        return Proxy.newProxyInstance(Reflected.class.getClassLoader(), types, (self, method, args) -> {
            if (method.getDeclaringClass() == Object.class) {
                return switch (method.getName()) {
                    case "hashCode" -> System.identityHashCode(self);
                    case "equals" -> self == args[0];
                    default -> type.getSimpleName();
                };
            }
            Object done = handler.invoke(self, method, args);
            if (done == null && method.isDefault()) return InvocationHandler.invokeDefault(self, method, args);
            if (done == null && method.getReturnType() == int.class) return 0;
            if (done == null && method.getReturnType() == boolean.class) return false;
            if (done == null && method.getReturnType() == long.class) return 0L;
            return done;
        });
    }

    /** A Scala or Java collection as a Java one. */
    static Collection<?> collection(Object of) {
        if (of instanceof Collection<?> java) return java;
        return scala.jdk.javaapi.CollectionConverters.asJavaCollection((scala.collection.Iterable<?>) of);
    }

    /** The value of a Scala or Java option, or null. */
    static Object option(Object of) {
        if (of instanceof Optional<?> java) return java.orElse(null);
        return ((scala.Option<?>) of).isEmpty() ? null : ((scala.Option<?>) of).get();
    }
}
